"""Has a sheet of LibreOffice Calc follow a feed, as the recipe says, and says what
the sheet shows: calc.py link ADDRESS, or calc.py formula FORMULA. Each line on
standard input has the sheet refreshed; each answer is one line of JSON, rows of
texts. calc.py open ADDRESS opens a workbook, and then says what its first sheet
filters."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
from com.sun.star.lang import DisposedException
from com.sun.star.sheet.SheetLinkMode import NORMAL

# Comma, quotes, UTF-8, from the first line on; the language is English (USA), so
# that a point is the decimal sign; the first column is text.
CSV = "44,34,76,1,1/2,1033,false,true"


def setting(name, value):
    return PropertyValue(Name=name, Value=value)


def connect(pipe):
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    for _ in range(600):
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            time.sleep(0.1)
    raise SystemExit("LibreOffice did not start")


def shown(sheet):
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    last = cursor.RangeAddress
    return [[sheet.getCellByPosition(column, row).String for column in range(last.EndColumn + 1)] for row in range(last.EndRow + 1)]


def link(book, address):
    book.Sheets.getByIndex(0).link(address, "", "Text - txt - csv (StarCalc)", CSV, NORMAL)
    return lambda: book.SheetLinks.getByIndex(0).refresh()


def formula(book, text):
    book.Sheets.getByIndex(0).getCellByPosition(0, 0).FormulaLocal = text
    return book.calculateAll


def filtered(book):
    """The cells of the first sheet that have a filter, as rows of texts: an open document says it."""
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "copy.fods")
        book.storeToURL("file://" + path, (setting("FilterName", "OpenDocument Spreadsheet Flat XML"),))
        with open(path, encoding="utf-8") as copy:
            found = re.search("<table:database-range [^>]*>", copy.read())
    cells = re.search('target-range-address="[^".]*[.]([A-Z0-9]+):[^".]*[.]([A-Z0-9]+)"', found.group())
    buttons = 'display-filter-buttons="true"' in found.group()
    return [[":".join(cells.groups()) + (" filtered" if buttons else "")]]


def serve(office, way, what):
    desktop = office.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", office)
    opened = what if way == "open" else "private:factory/scalc"
    book = desktop.loadComponentFromURL(opened, "_blank", 0, (setting("Hidden", True),))
    say = lambda rows: print(json.dumps(rows), flush=True)
    refresh = {"link": link, "formula": formula, "open": lambda *_: None}[way](book, what)
    say(shown(book.Sheets.getByIndex(0)))
    for _ in sys.stdin:
        if refresh:
            refresh()
        say(shown(book.Sheets.getByIndex(0)) if refresh else filtered(book))
    book.close(True)
    with contextlib.suppress(DisposedException):  # it may be gone before it answers
        desktop.terminate()


with tempfile.TemporaryDirectory() as home:
    pipe = f"adlens{os.getpid()}"
    program = subprocess.Popen(
        ["soffice", "--headless", "--norestore", "--nologo", f"-env:UserInstallation=file://{home}", f"--accept=pipe,name={pipe};urp;"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"TMPDIR": home})
    try:
        serve(connect(pipe), sys.argv[1], sys.argv[2])
        program.wait(60)  # it tidies up behind itself
    finally:
        program.terminate()
        program.wait()
