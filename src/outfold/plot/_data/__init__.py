"""The numbers of every picture, without matplotlib: what a picture shows is what stands here, and here is what the results say."""
