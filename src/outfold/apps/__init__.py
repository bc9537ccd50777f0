"""Programs built on the library: `outfold run` and `outfold demo`."""
