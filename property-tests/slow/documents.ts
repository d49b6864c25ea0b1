/**
 * `npm run slow -- documents [--seed N]`: 100 hostile files, one after the other, through one server. Each is answered
 * and ends in time with fields or a code; no child holds more memory than it may; the server's event loop stays free.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  bomb,
  docxOf,
  docxWith,
  encryptedPdf,
  fuzzed,
  hostilePdfs,
  nestedMail
} from "../../packages/platform/src/documents/testing/hostile-files.ts"
import type { ReadingReport } from "../src/documents/reading-process.ts"
import { numbersOf } from "./options.ts"

const FILES = 100
const [MOST_MS, MOST_LOOP_MS] = [11_000, 20]
/** Most resident memory of a child, and how long it may hold more. */
const [MOST_BYTES, MOST_OVER_MS] = [512 * 1_048_576, 50]
const WATCH_MS = 5
const PAGE_BYTES = 4_096

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const invoices = new URL("../../fixtures/invoices/", import.meta.url)
const [PDF, MAIL, HTML] = ["application/pdf", "message/rfc822", "text/html"]
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

interface Hostile {
  readonly name: string
  readonly media: string
  readonly bytes: Uint8Array
}

/** Files that were made to hurt, then real ones with bytes changed or cut, always the same for a seed. */
const hostileFiles = (seed: number): ReadonlyArray<Hostile> => {
  const pdfs = readdirSync(invoices).filter((name) => name.endsWith(".pdf"))
  const real = pdfs.map((name) => new Uint8Array(readFileSync(new URL(name, invoices))))
  const entries = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`word/x${at}.xml`, utf8("")]))
  const made: ReadonlyArray<readonly [name: string, media: string, bytes: Uint8Array]> = [
    ...Object.entries(hostilePdfs(real[0]!)).map(([name, bytes]) => [name, PDF, bytes] as const),
    ["400 MB in Flate", PDF, bomb(400_000_000)],
    ["1.5 GB in Flate", PDF, bomb(1_500_000_000)],
    ["encrypted", PDF, encryptedPdf()],
    ["10,000 entries", DOCX, docxOf(entries)],
    ["a thousandfold", DOCX, docxOf({ "word/document.xml": new Uint8Array(15_000_000) })],
    ["half a ZIP", DOCX, docxWith("<w:p/>").subarray(0, 90)],
    ["a mail nested 300 deep", MAIL, nestedMail(300)],
    ["entities", "application/xml", utf8(`<!DOCTYPE a [<!ENTITY a "aaaa">]><Invoice><ID>&a;</ID></Invoice>`)],
    ["200,000 elements", HTML, utf8("<div>".repeat(200_000))],
    ["one line of 20 MB", "text/plain", utf8("Total: 1.00 EUR ".repeat(1_250_000))],
    ["51 MB", PDF, new Uint8Array(51 * 1_048_576)]
  ]
  const text = "Invoice number: A-17\nTotal: 119.00 EUR\nIBAN: DE89 3704 0044 0532 0130 00\n".repeat(40)
  const others: ReadonlyArray<readonly [string, Uint8Array]> = [
    [DOCX, docxWith(...text.split("\n").map((line) => `<w:p><w:r><w:t>${line}</w:t></w:r></w:p>`))],
    [HTML, utf8(`<style>.x{display:none}</style><table><tr><td>${text}</td></tr></table>`)],
    [MAIL, utf8(`From: a@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n${text}\r\n--b--`)],
    ["application/xml", utf8(`<Invoice><ID>A-17</ID><Note>${text}</Note></Invoice>`)]
  ]
  const mutated = Array.from({ length: FILES - made.length }, (_, at): Hostile => {
    const of = at % (real.length + others.length)
    const [media, bytes] = others[of - real.length] ?? [PDF, real[of]!]
    const changed = fuzzed(bytes, seed + at)
    const cut = changed.length - ((at * 7_919) % Math.max(1, changed.length >> 1))
    return at % 3 === 0
      ? { name: `cut ${at}`, media, bytes: changed.subarray(0, cut) }
      : { name: `fuzzed ${at}`, media, bytes: changed }
  })
  return [...made.map(([name, media, bytes]) => ({ name, media, bytes })), ...mutated]
}

/** Watches the resident memory of the children of a process. */
const watchChildren = (pid: number) => {
  const over = new Map<string, number>()
  let [mostBytes, longestMs] = [0, 0]
  const read = (path: string): string => {
    try {
      return readFileSync(`/proc/${path}`, "latin1")
    } catch {
      // It is gone.
      return ""
    }
  }
  const timer = setInterval(() => {
    const children = read(`${pid}/task/${pid}/children`).split(" ").filter(Boolean)
    for (const child of over.keys()) if (!children.includes(child)) over.delete(child)
    for (const child of children) {
      const bytes = Number(read(`${child}/statm`).split(" ")[1] ?? 0) * PAGE_BYTES
      mostBytes = Math.max(mostBytes, bytes)
      if (bytes <= MOST_BYTES) over.delete(child)
      else {
        if (!over.has(child)) over.set(child, performance.now())
        longestMs = Math.max(longestMs, performance.now() - over.get(child)!)
      }
    }
  }, WATCH_MS)
  return { stop: () => clearInterval(timer), result: () => ({ mostBytes, longestMs }) }
}

/** Runs the proof. True when every promise holds. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { seed = 1 } = numbersOf(args, ["seed"])
  const files = hostileFiles(seed)
  const folder = mkdtempSync(join(tmpdir(), "flyball-hostile-"))
  const host = fork(fileURLToPath(new URL("../src/documents/reading-process.ts", import.meta.url)), [folder])
  const ended = once(host, "exit")
  try {
    return await sendAll(host, files)
  } finally {
    if (host.connected) host.disconnect()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

const sendAll = async (host: ChildProcess, files: ReadonlyArray<Hostile>): Promise<boolean> => {
  const { key, port } = (await once(host, "message"))[0] as ReadingReport
  const call = async (path: string, init: RequestInit = {}): Promise<any> => {
    const headers = { authorization: `Bearer ${key}`, ...(init.headers as object) }
    return (await fetch(`http://127.0.0.1:${port}/v1/documents/${path}`, { ...init, headers })).json()
  }
  const watch = watchChildren(host.pid!)
  const codes = new Map<string, number>()
  let [slowestMs, unanswered] = [0, 0]
  for (const { bytes, media, name } of files) {
    const startedAt = performance.now()
    const answer = await call("extract?wait=10", {
      method: "POST",
      headers: { "content-type": media },
      body: bytes as BodyInit
    }).catch((error: unknown) => ({ error: { code: String(error) }, status: null }))
    let end = answer
    while (
      end.id !== undefined &&
      end.status !== "completed" &&
      end.status !== "failed" &&
      msSince(startedAt) < MOST_MS
    )
      end = await call(`extractions/${answer.id}`)
    const ms = msSince(startedAt)
    const code = end.status === "completed" ? "fields" : (end.error?.code ?? `still ${end.status}`)
    if (end.status === null || code.startsWith("still") || code === "interrupted") unanswered += 1
    slowestMs = Math.max(slowestMs, ms)
    codes.set(code, (codes.get(code) ?? 0) + 1)
    if (ms > 1_000 || unanswered > 0) console.log(`     ${name}: ${code} after ${Math.round(ms)} ms`)
  }
  watch.stop()
  host.send("report")
  const { maxMs, p99Ms } = (await once(host, "message"))[0] as ReadingReport
  const { longestMs, mostBytes } = watch.result()
  const ends = [...codes].map(([code, count]) => `${code} ${count}`).join(", ")
  return [
    say(unanswered === 0, `${files.length} files ended: ${ends}`),
    say(slowestMs < MOST_MS, `the slowest ended after ${Math.round(slowestMs)} ms`),
    say(
      longestMs <= MOST_OVER_MS,
      `a child held more than 512 MiB for ${Math.round(longestMs)} ms; at most ${Math.round(mostBytes / 1_048_576)} MiB`
    ),
    say(p99Ms < MOST_LOOP_MS, `the event loop: p99 ${p99Ms.toFixed(1)} ms, at most ${maxMs.toFixed(1)} ms`)
  ].every((holds) => holds)
}

const msSince = (startedAt: number): number => performance.now() - startedAt

const say = (holds: boolean, text: string): boolean => {
  console.log(`${holds ? "ok  " : "FAIL"} ${text}`)
  return holds
}
