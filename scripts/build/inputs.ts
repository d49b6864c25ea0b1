/** The files that a program is made from, each with what tells later whether it is still the same. */
import { createHash } from "node:crypto"
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"

/** One file as it was read. `built.cjs` compares. */
export interface Input {
  /** From the root, with `/`. */
  readonly path: string
  readonly size: number
  /** Null: too young for its times to prove anything; its digest decides. */
  readonly mtimeMs: number | null
  readonly ctimeMs: number | null
  readonly sha256: string
}

/**
 * How old a file's times must be when it is read.
 *
 * - Unit: milliseconds. File systems count time in steps of up to 2 s: a change in the same step leaves the times as they are.
 */
const SETTLED_MS = 2_000

/** Remembers every file that is read through it. */
export class Inputs {
  readonly #root: string
  readonly #nowMs: () => number
  readonly #found = new Map<string, Input>()

  constructor(root: string, nowMs: () => number) {
    this.#root = root
    this.#nowMs = nowMs
  }

  /** The file's bytes. Its state is taken before them, so that a change in between shows later. */
  read(path: string): Buffer {
    const file = openSync(path, "r")
    try {
      const { ctimeMs, mtimeMs, size } = fstatSync(file)
      const bytes = readFileSync(file)
      const settled = Math.max(ctimeMs, mtimeMs) < this.#nowMs() - SETTLED_MS
      const name = relative(this.#root, path).replaceAll("\\", "/")
      this.#found.set(name, { path: name, size, mtimeMs: settled ? mtimeMs : null, ctimeMs: settled ? ctimeMs : null, sha256: createHash("sha256").update(bytes).digest("hex") })
      return bytes
    } finally {
      closeSync(file)
    }
  }

  /**
   * Waits until what was young is old enough for its times to count, and reads it again. At most as long as that takes.
   *
   * - Fails: rejects when a file is another one by then.
   */
  async settle(wait: (ms: number) => Promise<unknown>): Promise<void> {
    const young = this.all().filter(({ mtimeMs }) => mtimeMs === null)
    if (young.length > 0) await wait(SETTLED_MS)
    for (const { path, sha256 } of young) {
      this.read(this.path(path))
      if (this.#found.get(path)!.sha256 !== sha256) throw new Error(`${path} was changed while it was joined. Run npm run build again`)
    }
  }

  /** What was read, by path. */
  all(): ReadonlyArray<Input> {
    return [...this.#found.values()].sort((a, b) => a.path < b.path ? -1 : 1)
  }

  /** The same for the same files, wherever the tree is. */
  digest(): string {
    return createHash("sha256").update(this.all().map(({ path, sha256 }) => `${sha256} ${path}\n`).join("")).digest("hex")
  }

  /** An absolute path of a path from the root. */
  path(name: string): string {
    return join(this.#root, name)
  }
}
