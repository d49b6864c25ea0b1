/** Shows an element of a report. Texts become text nodes: nothing that a pack says is read as markup. */
import { type ReportElement, shownText } from "../reports/report-tree.ts"

/** The element for the document. */
export const showElement = ({ children, name, tag }: ReportElement): HTMLElement => {
  const element = document.createElement(tag)
  if (name !== undefined) element.className = name
  if (tag === "th") element.setAttribute("scope", "row")
  element.append(...children.map((child) => (typeof child === "string" ? shownText(tag, child) : showElement(child))))
  return element
}
