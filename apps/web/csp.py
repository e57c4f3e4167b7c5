"""The Content-Security-Policy of pages."""


def page_policy(form_action: str = "'self'") -> str:
    """Only our own scripts, styles and pictures; no other site is asked for anything, and none may frame a page."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        f"connect-src 'self'; form-action {form_action}; base-uri 'none'; frame-ancestors 'none'"
    )
