"""Charts as SVG: 340 px wide, shown as large as they are, coloured by the style sheet of the page.

Every chart has all its values in its label, for who does not see it.
"""
