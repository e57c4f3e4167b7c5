"""Users and memberships."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, BaseUserCreationForm
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.orgs.admin.deletion import summary_of
from apps.orgs.admin.finding import OrganizationFilter, people_like
from apps.orgs.admin.parts import exactly, first_keys, only
from apps.orgs.admin.readonly import ListAdmin, ReadOnlyAdminMixin
from apps.orgs.models import Membership, User
from apps.orgs.models.people import fold_email

PERMISSION_FIELDS = ("is_staff", "is_superuser", "groups", "user_permissions")


class MembersInline(admin.TabularInline):
    """Those who are members already: their role can change, or they can leave."""

    model = Membership
    verbose_name_plural = "Members"
    fields = ("user", "role", "created_at")
    readonly_fields = ("user", "created_at")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        # The organization too: every line is also shown as "somebody in an organization".
        return super().get_queryset(request).select_related("user", "organization").order_by("id")

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class NewMemberInline(admin.TabularInline):
    """One more member. Apart from those there are, so that not every line carries a search box and its query."""

    model = Membership
    verbose_name = "member"
    verbose_name_plural = "Add a member"
    fields = ("user", "role")
    autocomplete_fields = ("user",)
    extra = 1

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).none()


@admin.register(Membership)
class MembershipAdmin(ListAdmin):
    list_display = ("user", "organization", "role", "created_at")
    list_select_related = ("user", "organization")
    list_filter = (OrganizationFilter,)
    ordering = ("id",)
    search_fields = ("user__email",)
    search_help_text = "A part of the e-mail address."
    fields = ("user", "organization", "role", "created_at")
    autocomplete_fields = ("user", "organization")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("user", "organization", "created_at") if obj else ("created_at",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term.strip():
            return queryset, False
        found = queryset.filter(user__in=people_like(request, search_term))
        return exactly(request, queryset, first_keys(found)), False

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        return summary_of(objs)  # authorizations are deleted too, and rows of tokens say nothing to a reader


class MembershipsInline(ReadOnlyAdminMixin, admin.TabularInline):
    model = Membership
    verbose_name_plural = "Organizations"
    fields = readonly_fields = ("organization", "role", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("user", "organization").order_by("id")


class UserForm(forms.ModelForm):
    def clean_email(self) -> str:
        """A readable error; the model would name its constraint."""
        email = fold_email(self.cleaned_data["email"])
        if User.objects.filter(email=email).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("Another user has this e-mail address.")
        return email


class NewUserForm(UserForm, BaseUserCreationForm):
    class Meta:
        model = User
        fields = ("email", "name")


class NewPasswordForm(AdminPasswordChangeForm):
    """Without the choice of other ways to sign in: there are none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.pop("usable_password", None)


@admin.register(User)
class UserAdmin(ListAdmin, DjangoUserAdmin):
    form = UserForm
    add_form = NewUserForm
    change_password_form = NewPasswordForm
    add_form_template = None
    list_display = ("email", "name", "is_active", "is_staff", "date_joined")
    list_filter = ("is_active", "is_staff")
    ordering = ("email",)
    search_fields = ("email",)
    search_help_text = "A part of the e-mail address."
    readonly_fields = ("new_password", "last_login", "date_joined")
    filter_horizontal = ("groups", "user_permissions")
    fieldsets = (
        (None, {"fields": ("email", "name", "is_active", "new_password")}),
        ("Operator", {"fields": PERMISSION_FIELDS}),
        ("Record", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "name", "password1", "password2")}),)

    @admin.display(description="Password")
    def new_password(self, user: User) -> SafeString:
        return format_html('<a href="{}">Set a new password</a>', "../password/")

    def get_inlines(self, request: HttpRequest, obj: Any) -> list[Any]:
        return [MembershipsInline] if obj else []

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        # Whoever may edit users could otherwise make themselves superuser.
        return self.readonly_fields if request.user.is_superuser else (*self.readonly_fields, *PERMISSION_FIELDS)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is not None and obj.is_superuser and not request.user.is_superuser:
            return False
        return super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # their entries in the history would go too; a user who leaves is made inactive

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return only(request, queryset, people_like(request, search_term)) if search_term.strip() else queryset, False
