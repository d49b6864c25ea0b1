/** The page in which a pack is verified: takes the file and keys, lets the worker check them, shows what it found. */
import type { CheckStep } from "../check-pack.ts"
import type { FromWorker, PageRequest, ToWorker } from "./messages.ts"
import { showElement } from "./show-element.ts"
import { showRecord } from "./show-record.ts"
import { startWorker } from "./start-worker.ts"

const byId = <A extends HTMLElement>(id: string, type: new () => A): A => {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`The page has no ${id}.`)
  return found
}
const button = (id: string) => byId(id, HTMLButtonElement)
const input = (id: string) => byId(id, HTMLInputElement)
const section = (id: string) => byId(id, HTMLElement)

const pack = input("pack")
const failure = section("failure")
const found = section("found")
const progress = byId("progress", HTMLProgressElement)
const records = byId("records", HTMLOListElement)
const status = section("status")
const timeline = section("timeline")
const working = section("working")

/** The worker of the check at hand; null before the first one, and after one that was stopped or failed. */
let worker: Worker | null = null
let kept: Extract<FromWorker, { readonly type: "checked" }> | null = null
/** Where the pages of the timeline up to the one at hand begin, and where the next one does. */
let starts: ReadonlyArray<number> = [0]
let next: number | null = null

/** Nothing is handed over with a message: the worker gets the file itself, and reads it. */
const send = (message: ToWorker): void => worker?.postMessage(message, [])

const begin = (request: PageRequest): void => {
  stop()
  kept = null
  failure.hidden = true
  found.hidden = true
  status.textContent = "The check has started."
  setWorking(true)
  worker = startWorker(take, (sentence) => take({ type: "failed", sentence }))
  send({ type: "check", request })
}

const stop = (): void => {
  worker?.terminate()
  worker = null
  setWorking(false)
}

const setWorking = (isWorking: boolean): void => {
  working.hidden = !isWorking
  button("stop").hidden = !isWorking
  button("verify").disabled = isWorking
}

const take = (message: FromWorker): void => {
  switch (message.type) {
    case "progress": {
      section("working-label").textContent = `${STEPS[message.step]} ${read(message.at, message.size)}`
      progress.max = Math.max(1, message.size)
      progress.value = message.at
      return
    }
    case "checked": {
      kept = message
      setWorking(false)
      section("report").replaceChildren(...message.tree.map(showElement))
      timeline.hidden = !message.isIntact
      section("to-timeline").hidden = !message.isIntact
      records.replaceChildren()
      found.hidden = false
      status.textContent = "The check is done."
      section("report").focus()
      if (message.isIntact) showFrom([0])
      return
    }
    case "records": {
      next = message.next
      records.replaceChildren(...message.rows.map(showRecord))
      const [first, last] = [message.rows.at(0), message.rows.at(-1)]
      section("shown").textContent =
        first === undefined || last === undefined
          ? "No record has this text."
          : `Records ${first.seq} to ${last.seq}${next === null ? ", the last" : ""}.`
      button("earlier").disabled = starts.length < 2
      button("later").disabled = next === null
      return
    }
    case "failed": {
      stop()
      status.textContent = ""
      found.hidden = true
      failure.textContent = `NO VERDICT. ${message.sentence}`
      failure.hidden = false
    }
  }
}

const showFrom = (places: ReadonlyArray<number>): void => {
  starts = places
  button("earlier").disabled = true
  button("later").disabled = true
  section("shown").textContent = "Reading the records."
  send({ type: "records", query: { from: starts.at(-1)!, limit: ROWS, find: input("find").value } })
}

const read = (at: number, size: number): string =>
  size < SHOWN_FROM_BYTES ? "" : `${megabytes(at)} of ${megabytes(size)} MB`

const megabytes = (bytes: number): string => Math.ceil(bytes / 1_000_000).toLocaleString("en")

const STEPS: { readonly [step in CheckStep]: string } = {
  verify: "Checking hashes and signatures.",
  read: "Reading the records again: who did what, and what you chose besides."
}
const ROWS = 50
const SHOWN_FROM_BYTES = 1_000_000

const save = (text: string, type: string, name: string): void => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  // Some browsers begin to read only after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

const form = byId("form", HTMLFormElement)
form.addEventListener("submit", (event) => {
  event.preventDefault()
  const [file] = pack.files ?? []
  if (file === undefined) return
  begin({
    pack: file,
    vkeys: byId("vkeys", HTMLTextAreaElement).value,
    policy: input("policy").files?.[0] ?? null,
    trustedCheckpoint: input("trusted").files?.[0] ?? null,
    previous: [...(input("previous").files ?? [])],
    require: byId("require", HTMLSelectElement).value as PageRequest["require"],
    maxAge: input("max-age").value,
    replay: input("replay").checked,
    bodies: input("bodies").checked
  })
})
button("stop").addEventListener("click", () => {
  stop()
  status.textContent = "The check was stopped."
})
byId("search", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault()
  showFrom([0])
})
button("earlier").addEventListener("click", () => showFrom(starts.slice(0, -1)))
button("later").addEventListener("click", () => {
  if (next !== null) showFrom([...starts, next])
})
button("print").addEventListener("click", () => print())
button("save-html").addEventListener("click", () => {
  if (kept !== null) save(kept.html, "text/html", "evidence-report.html")
})
button("save-json").addEventListener("click", () => {
  if (kept !== null) save(kept.json, "application/json", "evidence-report.json")
})

// A file that is dropped anywhere is chosen, and never opened in place of the page.
addEventListener("dragover", (event) => {
  event.preventDefault()
  document.body.classList.add("dropping")
})
addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) document.body.classList.remove("dropping")
})
addEventListener("drop", (event) => {
  event.preventDefault()
  document.body.classList.remove("dropping")
  const files = event.dataTransfer?.files
  // A drop onto another field of files is for that one, and several files are no pack.
  if (files?.length !== 1) return
  const target = event.target instanceof HTMLInputElement && event.target.type === "file" ? event.target : pack
  target.files = files
  status.textContent = `${files[0]!.name} is chosen.`
})

form.hidden = false
section("not-started").hidden = true
