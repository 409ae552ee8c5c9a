"""A Django application asked by its own test client: middleware, models in SQLite, forms, templates, JSON, errors."""

import sys
import time

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="of a test", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["testserver"], DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions"],
    MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "django.contrib.sessions.middleware.SessionMiddleware",
                "django.middleware.common.CommonMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware"],
    SESSION_ENGINE="django.contrib.sessions.backends.signed_cookies", LOGGING_CONFIG=None,
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}])
django.setup()

from django import forms  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.template import Context, Template  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import path  # noqa: E402

PAGE = Template("{% for user in users %}<tr><td>{{ user.username|upper }}</td>"
                "<td>{{ user.date_joined|date:'Y-m-d' }}</td></tr>{% empty %}none{% endfor %}")


class Wanted(forms.Form):
    name = forms.CharField(max_length=20)
    count = forms.IntegerField(min_value=1)


def page(request, least):
    users = User.objects.filter(pk__gte=least).exclude(username__endswith="7").order_by("-username")
    return HttpResponse(PAGE.render(Context({"users": users})))


def wants(request):
    form = Wanted(request.POST)
    request.session["seen"] = request.session.get("seen", 0) + 1
    return JsonResponse({"errors": form.errors, "seen": request.session["seen"]}, status=200 if form.is_valid() else 400)


def fails(request):
    try:
        return HttpResponse(str(1 // 0))
    except ZeroDivisionError as error:
        return JsonResponse({"error": str(error)}, status=500)


urlpatterns = [path("page/<int:least>", page), path("wants", wants), path("fails", fails)]


def main():
    call_command("migrate", verbosity=0)
    User.objects.bulk_create(User(username="user%d" % i) for i in range(40))
    client = Client(raise_request_exception=False)
    end = time.process_time() + float(sys.argv[1])
    while time.process_time() < end:
        assert b"USER39" in client.get("/page/10").content
        assert client.post("/wants", {"name": "a", "count": "3"}).status_code == 200
        assert client.post("/wants", {"name": "a" * 30, "count": "0"}).status_code == 400
        assert client.get("/fails").status_code == 500


main()
