// What the theme adds to a page: tables and code that scroll can be reached by keyboard, and the
// buttons beside code are no part of the navigation.
const reach = () => {
  for (const one of document.querySelectorAll(".md-typeset__scrollwrap, pre > code")) {
    if (!one.hasAttribute("tabindex")) one.tabIndex = 0;
  }
  for (const one of document.querySelectorAll("nav.md-code__nav")) one.setAttribute("role", "none");
};
reach();
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
