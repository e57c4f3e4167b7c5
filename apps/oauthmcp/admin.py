"""What operators see of access: clients, authorizations, codes and tokens."""

from django.contrib.admin import ModelAdmin


class ApplicationAdmin(ModelAdmin): ...


class GrantAdmin(ModelAdmin): ...


class AccessTokenAdmin(ModelAdmin): ...


class RefreshTokenAdmin(ModelAdmin): ...


class IDTokenAdmin(ModelAdmin): ...
