"""The three peers on Django: a plain view, Django REST framework, django-ninja."""

from django.urls import path

from benchmarks.peers.drf import AppViewSet
from benchmarks.peers.ninja_api import api
from benchmarks.peers.plain import list_apps

urlpatterns = [
    path("plain", list_apps),
    path("drf", AppViewSet.as_view({"post": "call"})),
    path("ninja/", api.urls),
]
