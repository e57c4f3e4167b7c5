"""Times to the minute, on 24 hours: 12:05 a.m. is read wrong too easily. Their zone is said below each page."""

DATE_FORMAT = SHORT_DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "Y-m-d H:i"
