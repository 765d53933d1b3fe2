"""Jobs: which there are, what names them, and what carries them out: processes here, or the workers of a cluster."""
