/**
 * Writes the library's log into the log of this process. Without it Effect prints to standard output, which belongs to
 * the ready line.
 */
import { Cause, type Layer, Logger } from "effect"
import { CurrentSpan } from "@flyball/http/host"
import type { Log } from "./log.ts"

/** A layer that sends Effect's log lines to `log`. */
export const effectLog = (log: Log): Layer.Layer<never> =>
  Logger.layer([
    Logger.make(({ cause, fiber, logLevel, message }) => {
      const words = Array.isArray(message) ? message : [message]
      const causes = [cause, ...words.filter(Cause.isCause)].filter(({ reasons }) => reasons.length > 0)
      const text = words
        .filter((word) => !Cause.isCause(word))
        .map((word) => (typeof word === "string" ? word : word instanceof Error ? word.message : JSON.stringify(word)))
        .join(" ")
      const span = fiber.getRef(CurrentSpan)
      log(levels[logLevel] ?? "info", text, {
        ...(causes.length === 0 ? {} : { cause: causes.map((one) => Cause.pretty(one)).join("\n") }),
        ...(span === null ? {} : { traceId: span.traceId })
      })
    })
  ])

const levels: { readonly [level: string]: "error" | "warn" | "info" } = { Fatal: "error", Error: "error", Warn: "warn" }
