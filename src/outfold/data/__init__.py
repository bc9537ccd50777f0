"""Predictions and what they are made of: the plan, the target, notes."""
