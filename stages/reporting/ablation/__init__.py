"""The page of an ablation."""
