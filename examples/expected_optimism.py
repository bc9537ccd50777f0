"""
How optimistic is the best of many?
===================================

The more configurations you try, and the fewer samples you have, the more of the winner's score is luck. You can
compute this before you see any data.
"""

import matplotlib.pyplot as plt

import outfold as of

sizes = [20, 40, 80, 160, 320, 640]
fig, ax = plt.subplots(layout="constrained")
for n_configs in (10, 100, 1000):
    ax.plot(
        sizes,
        [of.simulate.optimism(n, n_configs, (14, 6)).value for n in sizes],
        "o-",
        label=f"{n_configs} configurations",
    )
ax.set(xscale="log", xlabel="samples", ylabel="expected optimism of the accuracy")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()

# %%
# With 80 samples and 100 independent configurations, the winner looks better than it is by
print(of.simulate.optimism(80, 100, (14, 6)))
