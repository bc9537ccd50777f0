"""
The best of fifty prompts
=========================

Fifty equally good prompts on 200 questions about 40 passages. The best score is luck; the corrected estimate knows it.
"""

import numpy as np

import outfold as of

rng = np.random.default_rng(0)
passage = np.repeat(np.arange(40), 5)
chance = 1 / (1 + np.exp(rng.normal(0, 1, 40)[passage][:, None] + rng.normal(0, 0.7, (40, 50))[passage] - 0.8))
right = rng.random((200, 50)) < chance
oof = of.from_arrays(None, right, configs=[f"prompt {j:02}" for j in range(50)], groups=passage, response="pointwise")
found = of.estimate.bbc(oof, "mean")
print(found)
print(f"{len(of.compare.tied_set(oof, 'mean').configs)} of 50 prompts cannot be told from the best")
ax = of.plot.configurations(oof, "mean", top=15, estimate=found)
