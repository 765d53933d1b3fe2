"""The page's colours."""

# by role: on light paper, on dark paper; every text colour has a contrast of 4.5 and more on `paper` and `shade`
PAGE = {
    "paper": ("#ffffff", "#15181c"),
    "shade": ("#f5f5f2", "#1e2227"),  # below headers of tables and controls
    "ink": ("#222222", "#e4e6ea"),
    "soft": ("#595959", "#a9aeb6"),  # remarks
    "rule": ("#d9d9d4", "#353a41"),  # lines between
    "edge": ("#767676", "#8b929c"),  # of controls
    "link": ("#005a94", "#79bdf0"),
    "right": ("#00684c", "#5cc9a4"),
    "wrong": ("#9c4400", "#f0a06a"),
}
