"""Every picture, described once: `svg` renders a description for the report, `mpl` renders it with matplotlib."""
