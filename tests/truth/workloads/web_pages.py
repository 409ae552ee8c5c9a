"""A Flask application asked by its own test client: routing, templates, JSON, sessions, errors."""

import sys
import time

from flask import Flask, jsonify, render_template_string, request, session

app = Flask(__name__)
app.secret_key = "of a test"
PAGE = """{% macro row(item) %}<tr><td>{{ item.name|upper }}</td><td>{{ "%.2f"|format(item.price) }}</td></tr>{% endmacro %}
<table>{% for item in items if item.price > least %}{{ row(item) }}{% else %}none{% endfor %}</table>"""
ITEMS = [{"name": "item %d" % i, "price": i * 1.25} for i in range(40)]


@app.before_request
def count():
    session["seen"] = session.get("seen", 0) + 1


@app.get("/page/<int:least>")
def page(least):
    return render_template_string(PAGE, items=ITEMS, least=least)


@app.post("/sum")
def total():
    return jsonify(total=sum(request.get_json()["numbers"]), seen=session["seen"])


@app.errorhandler(ZeroDivisionError)
def divided(error):
    return {"error": str(error)}, 500


@app.get("/fails")
def fails():
    return str(1 // (request.args.get("by", 0, int)))


def main():
    end = time.process_time() + float(sys.argv[1])
    with app.test_client() as client:
        while time.process_time() < end:
            assert b"ITEM 39" in client.get("/page/10").data
            assert client.post("/sum", json={"numbers": list(range(50))}).get_json()["total"] == 1225
            assert client.get("/fails?by=0").status_code == 500


main()
