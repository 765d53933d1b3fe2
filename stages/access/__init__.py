"""The study of access: who decides what is practised, and what is then stored and answered."""
