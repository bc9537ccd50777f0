"""Using the model that a search gave: save and load it, predict new rows, and compare the estimate with what came true."""

from .about import EstimateAbout, LeftOut, ModelAbout, Threshold
from .confronting import confront
from .model import FrameCheck, Model, load_model
from .ranges import Range, ranges_of
from .saving import keep_model, save_model

__all__ = [
    "EstimateAbout",
    "FrameCheck",
    "LeftOut",
    "Model",
    "ModelAbout",
    "Range",
    "Threshold",
    "confront",
    "keep_model",
    "load_model",
    "ranges_of",
    "save_model",
]
