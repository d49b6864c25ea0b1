/** The host's end of a child that reads documents: one document at a time, and nothing that it says is trusted. */
import { type ChildProcess, fork } from "node:child_process"
import { closeSync, existsSync, openSync, readSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { DocumentPage, ExtractionFailure, ReadDocument } from "@flyball/rules"
import { Result, Schema } from "effect"
import { Heard } from "./protocol.ts"

const HEAP_MB = 256
/** The most that a document has, whatever a child that was taken over says; mails have pages beside their documents. */
const MAX_ITEMS = 100_500
const MAX_PAGES = 1_000
/** Pages have 4 KiB on every Linux that Node runs on but some arm64 ones, where the watch is stricter. */
const PAGE_BYTES = 4_096

const decode = Schema.decodeUnknownResult(Heard)

/** The child's program beside this module, and the folders of code that it may read. */
const program = (): { readonly path: string; readonly readable: ReadonlyArray<string> } => {
  const joined = fileURLToPath(new URL("./reader-child.js", import.meta.url))
  if (existsSync(joined)) return { path: joined, readable: [dirname(joined)] }
  const folder = fileURLToPath(new URL("./child/", import.meta.url))
  // A published package has scripts in place of sources.
  const path = [".ts", ".js"].map((ending) => join(folder, `reader-child${ending}`)).find(existsSync)!
  const require = createRequire(path)
  const packages = ["unpdf", "fflate", "parse5", "postal-mime", "entities"].flatMap((name) => {
    const found = require.resolve.paths(name)?.find((folder) => existsSync(join(folder, name)))
    return found === undefined ? [] : [join(found, name)]
  })
  return { path, readable: [dirname(dirname(path)), join(dirname(path), "../../../../package.json"), ...packages] }
}

/** An engine that recognises text, where it is installed: its program, and its data of English. */
const engine = (): readonly [program: string, data: string] | null => {
  try {
    const { resolve } = createRequire(import.meta.url)
    const core = createRequire(resolve("tesseract.js")).resolve("tesseract.js-core/tesseract-core-simd-lstm.js")
    const data = join(dirname(resolve("@tesseract.js-data/eng")), "4.0.0_best_int/eng.traineddata.gz")
    return existsSync(data) ? [core, data] : null
  } catch {
    return null
  }
}

/** The end of a read: the document, why there is none, or null where the child was lost. */
export type Read = ReadDocument | ExtractionFailure | null

/** A child. `lost`: why it was killed, where the host did it. */
export class ReaderProcess {
  documents = 0
  private readonly child: ChildProcess
  private readonly statm: number | null
  private resident = 0
  private lost: ExtractionFailure | null = null
  private hear: ((message: unknown) => void) | null = null
  private gone: (() => void) | null = null
  private ended = false

  constructor() {
    const { path, readable } = program()
    const recognises = engine()
    const folders = [...readable, ...(recognises ?? []).map(dirname)]
    this.child = fork(path, recognises ?? [], {
      env: {},
      execArgv: [
        "--permission",
        ...folders.map((folder) => `--allow-fs-read=${folder}`),
        `--max-old-space-size=${HEAP_MB}`,
        "--max-semi-space-size=16",
        "--disallow-code-generation-from-strings",
        "--no-warnings"
      ],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"]
    })
    this.statm = openStatm(this.child.pid)
    this.child.on("message", (message) => this.hear?.(message))
    const end = (): void => {
      if (this.ended) return
      this.ended = true
      if (this.statm !== null) closeSync(this.statm)
      this.gone?.()
    }
    this.child.on("exit", end)
    this.child.on("error", end)
    // A host that is done ends although a child waits for its next document.
    this.child.unref()
    this.child.channel?.unref()
  }

  get usable(): boolean {
    return !this.ended && this.child.connected && this.lost === null
  }

  /** Resident memory. Unit: bytes. */
  memory(): number {
    if (this.statm === null || this.ended) return this.resident
    const buffer = Buffer.alloc(128)
    try {
      const length = readSync(this.statm, buffer, 0, 128, 0)
      return Number(buffer.toString("latin1", 0, length).split(" ")[1] ?? 0) * PAGE_BYTES
    } catch {
      return 0
    }
  }

  kill(why: ExtractionFailure): void {
    this.lost ??= why
    this.child.kill("SIGKILL")
  }

  /** Sends a piece of the document; the promise resolves once it is written. */
  part(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (!this.usable) resolve()
      else this.child.send({ part: bytes }, () => resolve())
    })
  }

  /** Reads what the pieces make. `done` is called once. */
  read(mediaType: string, done: (read: Read) => void): void {
    const pages: Array<{ width: number; height: number; items: Array<DocumentPage["items"][number]> }> = []
    let items = 0
    this.documents += 1
    const end = (read: Read): void => {
      this.hear = this.gone = null
      done(read)
    }
    this.gone = () => end(this.lost ?? (this.child.exitCode === 1 ? "malformed" : "too_much_memory"))
    if (!this.usable) return this.gone()
    this.hear = (message) => {
      const decoded = decode(message)
      if (Result.isFailure(decoded)) {
        this.kill("malformed")
        return end("malformed")
      }
      const heard = decoded.success
      if ("items" in heard) items += heard.items.length
      if (items > MAX_ITEMS || pages.length > MAX_PAGES) {
        this.kill("too_large")
        return end("too_large")
      }
      if ("resident" in heard) this.resident = heard.resident
      else if ("failed" in heard) end(heard.failed)
      else if ("width" in heard) pages.push({ ...heard, items: [] })
      else if ("items" in heard) pages.at(-1)?.items.push(...heard.items)
      else end({ pages, ...heard })
    }
    this.child.send({ read: mediaType }, () => {})
  }
}

const openStatm = (pid: number | undefined): number | null => {
  if (process.platform !== "linux" || pid === undefined) return null
  try {
    return openSync(`/proc/${pid}/statm`, "r")
  } catch {
    return null
  }
}
