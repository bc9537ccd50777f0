"""Using the model that a search gave: save and load it, predict new rows, and compare the estimate with what came true."""

from .about import EstimateAbout, LeftOut, ModelAbout, Threshold
from .model import FrameCheck, Model, load_model
from .ranges import Range, ranges_of
from .saving import save_model

__all__ = [
    "EstimateAbout",
    "FrameCheck",
    "LeftOut",
    "Model",
    "ModelAbout",
    "Range",
    "Threshold",
    "load_model",
    "ranges_of",
    "save_model",
]
