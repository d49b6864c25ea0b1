/** Joins a page, its style, its script and its worker into one HTML file that loads nothing. Decision 0014. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { licencesOf } from "./licences.ts"
import type { Page } from "./programs.ts"

/**
 * The file. The same sources give the same bytes. Not minified, so that a reader finds the sources again.
 *
 * - Fails: rejects when a module is missing or needs Node, when a package brings no licence, and when a script holds
 *   what would end its element.
 */
export const joinPage = async (page: Page, root: string): Promise<string> => {
  const modules: Array<string> = []
  const [script, worker] = [await joinScript(page.script, root, modules), await joinScript(page.worker, root, modules)]
  const read = (path: string): string => readFileSync(join(root, path), "utf8")
  const { reportStyle } = (await import(join(root, page.styleModule))) as { readonly reportStyle: string }
  const style = `${reportStyle}${read(page.style)}`
  const { version } = JSON.parse(read("package.json")) as { readonly version: string }
  const policy = [
    "default-src 'none'",
    `script-src ${digestOf(script)}`,
    `style-src ${digestOf(style)}`,
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types flyball-worker"
  ].join("; ")
  const values: { readonly [name: string]: string } = {
    licences: escaped(licencesOf(modules)),
    policy,
    script,
    style,
    version,
    worker
  }
  return read(page.template).replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`${page.template} names {{${name}}}, which nothing fills.`)
    return value
  })
}

const joinScript = async (entry: string, root: string, modules: Array<string>): Promise<string> => {
  const bundle = await rolldown({
    cwd: root,
    input: join(root, entry),
    platform: "browser",
    transform: { target: BROWSERS },
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message)
    }
  })
  try {
    const { output } = await bundle.generate({ format: "iife", minify: false, codeSplitting: false })
    const [chunk, ...more] = output
    if (more.length > 0) throw new Error(`${entry} does not become one file.`)
    modules.push(...chunk.moduleIds)
    // A module that is loaded on demand is joined too, and named as the file itself.
    const foreign = [...chunk.imports, ...chunk.dynamicImports].filter((name) => name !== chunk.fileName)
    if (foreign.length > 0) throw new Error(`${entry} needs ${foreign.join(", ")}, which no browser has.`)
    const ending = /<!--|<\/?script/i.exec(chunk.code)
    if (ending !== null)
      throw new Error(`The script of ${entry} holds ${ending[0]}, which would end or change its element.`)
    return chunk.code
  } finally {
    await bundle.close()
  }
}

/** The oldest that have everything the page uses; older ones say that they cannot run it. */
const BROWSERS = ["chrome111", "firefox115", "safari16.4"]

const digestOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
