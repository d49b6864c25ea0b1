/** Runs a real command and reads from the kernel what it took. Linux: /proc. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import type { Readable } from "node:stream"

/** Resources that one process used. */
export interface Taken {
  readonly wallMs: number
  /** Of all its threads, user and system. */
  readonly cpuMs: number
  /** Highest resident memory of the process: VmHWM, all threads and mapped files included. */
  readonly peakRssMb: number
  readonly out: string
}

/** How often the process is sampled; what it used after the last sample is not counted. */
const SAMPLE_MS = 20
/** Of /proc/PID/stat. The same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100
/** How often a running command is reported. */
const TELL_MS = 15_000

/**
 * Runs a command to its end, with a pipe from `input`. Fails with the end of its standard error when its status is not
 * 0.
 */
export const measured = async (
  name: string,
  command: string,
  args: ReadonlyArray<string>,
  environment: NodeJS.ProcessEnv,
  options: { readonly input?: Readable; readonly say?: (text: string) => void; readonly progress?: () => string } = {}
): Promise<Taken> => {
  const startedAt = performance.now()
  const child = spawn(command, args, {
    env: environment,
    stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"]
  })
  // A command that ends early has said why; the broken pipe says nothing more.
  if (child.stdin !== null) options.input?.pipe(child.stdin.on("error", () => undefined))
  let out = ""
  let err = ""
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (out += text))
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (err = (err + text).slice(-4_000)))
  let peakRssMb = 0
  let cpuMs = 0
  let loggedAt = startedAt
  const sampler = setInterval(() => {
    const found = sample(child.pid!)
    if (found !== null) {
      peakRssMb = Math.max(peakRssMb, found.peakRssMb)
      cpuMs = Math.max(cpuMs, found.cpuMs)
    }
    if (performance.now() - loggedAt < TELL_MS) return
    loggedAt = performance.now()
    options.say?.(
      `  ${name}: ${Math.round((loggedAt - startedAt) / 1_000)} s, ${Math.round(cpuMs / 1_000)} s of CPU, ` +
        `${Math.round(peakRssMb)} MB at most${options.progress === undefined ? "" : `, ${options.progress()}`}`
    )
  }, SAMPLE_MS)
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", resolve)
  }).finally(() => clearInterval(sampler))
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${err.trim()}`)
  return { wallMs: performance.now() - startedAt, cpuMs, peakRssMb, out }
}

const sample = (pid: number): { readonly peakRssMb: number; readonly cpuMs: number } | null => {
  try {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
    // The name of the program stands in brackets and may hold anything; user and system time are the 14th and 15th
    // field.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")
    return peak === null
      ? null
      : {
          peakRssMb: Number(peak[1]) / 1024,
          cpuMs: ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND
        }
  } catch {
    // It ended between two samples.
    return null
  }
}
