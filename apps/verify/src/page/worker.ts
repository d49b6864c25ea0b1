/** The worker of the page: checks the pack, so that the page stays responsive. It shows nothing. */
import { htmlReport } from "../reports/html-report.ts"
import { jsonReport } from "../reports/json-report.ts"
import type { PackFile } from "../pack-file.ts"
import { printableLines } from "../reports/printable.ts"
import { reportTree } from "../reports/report-tree.ts"
import { timelinePage, type TimelineQuery } from "../timeline/timeline.ts"
import { checkFiles, chosenPack, explainFailure } from "./check-files.ts"
import type { FromWorker, PageRequest, ToWorker } from "./messages.ts"

const send = (message: FromWorker): void => postMessage(message)

/** Progress at most this often. */
const EVERY_MS = 100
let checked: PackFile | null = null

const check = async (request: PageRequest): Promise<void> => {
  const { size } = request.pack
  let lastMs = 0
  let lastStep = ""
  const nowMs = Date.now()
  const { extras, report } = await checkFiles(request, nowMs, (step, at) => {
    const now = Date.now()
    if (step === lastStep && now - lastMs < EVERY_MS) return
    lastMs = now
    lastStep = step
    send({ type: "progress", step, at, size })
  })
  const isIntact = report.verdicts.integrity === "ok"
  checked = isIntact ? chosenPack(request.pack) : null
  send({
    type: "checked",
    tree: reportTree(report, extras, nowMs),
    html: htmlReport(report, extras, nowMs),
    json: printableLines(jsonReport(report, extras)),
    exit: report.exit,
    isIntact
  })
}

const records = async (query: TimelineQuery): Promise<void> => {
  if (checked !== null) send({ type: "records", ...(await timelinePage(checked, query)) })
}

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  const done = data.type === "check" ? check(data.request) : records(data.query)
  done.catch((cause: unknown) => {
    const text = cause instanceof Error ? `${cause.name}: ${cause.message}\n${cause.stack ?? ""}` : String(cause)
    send({
      type: "failed",
      sentence: explainFailure(cause) ?? `The verifier itself failed, so nothing is said about the pack. ${text}`
    })
  })
})
