"""Times to the second, on 24 hours: 12:05 a.m. is read wrong too easily, and syncs are seconds apart."""

DATETIME_FORMAT = "Y-m-d H:i:s"
