/** Pages of a release: what they link to is there, or is no link. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join, normalize, relative } from "node:path"

const LINK = /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g

/** A link of a page to a file; `target` is from the root of what holds the page, `anchor` null where there is none. */
export interface PageLink {
  readonly page: string
  readonly target: string
  readonly anchor: string | null
}

/** The links of a page to files. */
export const linksOf = (page: string, text: string): ReadonlyArray<PageLink> =>
  [...text.matchAll(LINK)].map(([, target, anchor]) => ({
    page,
    target: target === "" ? page : normalize(join(dirname(page), target!)),
    anchor: anchor ?? null
  }))

const isPage = (path: string): boolean => path.endsWith(".md")
const hasNoModules = (path: string): boolean => basename(path) !== "node_modules"

/** Copies these pages, and what they link to, and so on, each to its place from the root. */
export const copyPages = (root: string, to: string, pages: ReadonlyArray<string>): void => {
  const seen = new Set<string>()
  const visit = (path: string): void => {
    if (seen.has(path) || path.startsWith("..") || !existsSync(join(root, path))) return
    seen.add(path)
    mkdirSync(dirname(join(to, path)), { recursive: true })
    const isFolder = statSync(join(root, path)).isDirectory()
    // Another file may be at its place already, as the page of the release is.
    if (!existsSync(join(to, path))) cpSync(join(root, path), join(to, path), { recursive: true, filter: hasNoModules })
    for (const page of isFolder ? globSync("**/*.md", { cwd: join(root, path) }).map((one) => join(path, one)) : [path])
      if (isPage(page)) for (const { target } of linksOf(page, readFileSync(join(root, page), "utf8"))) visit(target)
  }
  for (const page of pages) visit(page)
}

/** Turns links of the pages in a folder to what the folder does not hold into plain text. */
export const unlinkMissing = (folder: string): void => {
  for (const page of globSync("**/*.md", { cwd: folder })) {
    const text = readFileSync(join(folder, page), "utf8")
    const dead = new Set(deadLinks(folder, [page]).map(({ anchor, target }) => `${target}#${anchor ?? ""}`))
    if (dead.size === 0) continue
    const kept = text.replaceAll(
      /\[((?:[^[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g,
      (link, words: string, target: string, anchor: string | undefined) =>
        dead.has(`${target === "" ? page : normalize(join(dirname(page), target))}#${anchor ?? ""}`) ? words : link
    )
    writeFileSync(join(folder, page), kept)
  }
}

/** The links that lead nowhere, of all pages of a folder or of these. */
export const deadLinks = (
  folder: string,
  pages: ReadonlyArray<string> = globSync("**/*.md", { cwd: folder })
): ReadonlyArray<PageLink> =>
  pages.flatMap((page) =>
    linksOf(page, readFileSync(join(folder, page), "utf8")).filter(({ anchor, target }) => {
      const file = join(folder, target)
      if (relative(folder, file).startsWith("..") || !existsSync(file)) return true
      return anchor !== null && isPage(target) && !anchorsOf(readFileSync(file, "utf8")).has(anchor)
    })
  )

/** Names of a page's headings. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, head]) =>
      head!
        .toLowerCase()
        .replaceAll(/[^a-z0-9 _-]/g, "")
        .replaceAll(" ", "-")
    )
  )
