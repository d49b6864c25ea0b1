/**
 * Passes the services' log lines to a host that knows nothing of Effect. Without it Effect prints to standard output,
 * which is the host's own: a protocol may run there.
 */
import { Cause, type Layer, Logger } from "effect"
import type { LogLine } from "./log-line.ts"

/** One line on standard error for each. */
export const toStandardError: LogLine = ({ cause, level, message }) =>
  void process.stderr.write(`flyball ${level}: ${message}${cause === null ? "" : `\n${cause}`}\n`)

/** A layer that sends all that is logged to `log`. */
export const backgroundLog = (log: LogLine): Layer.Layer<never> =>
  Logger.layer([
    Logger.make(({ cause, logLevel, message }) => {
      const words = Array.isArray(message) ? message : [message]
      const causes = [cause, ...words.filter(Cause.isCause)].filter(({ reasons }) => reasons.length > 0)
      log({
        level: levels[logLevel] ?? "info",
        message: words
          .filter((word) => !Cause.isCause(word))
          .map((word) =>
            typeof word === "string" ? word : word instanceof Error ? word.message : JSON.stringify(word)
          )
          .join(" "),
        cause: causes.length === 0 ? null : causes.map((one) => Cause.pretty(one)).join("\n")
      })
    })
  ])

const levels: { readonly [level: string]: "error" | "warn" } = { Fatal: "error", Error: "error", Warn: "warn" }
