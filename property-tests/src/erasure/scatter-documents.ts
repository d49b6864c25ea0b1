/** A person's text in a document: kept with its record, and found as a name that may be the sender's. */
import { setTimeout } from "node:timers/promises"
import { type Callers, expecting, type Marker } from "./person.ts"

interface Extraction {
  readonly id: string
  readonly status: string
  readonly candidates: { readonly vendor?: unknown }
}

/**
 * Extracts a document with the text as one of two names, and reveals it. Neither is sure, so it is a candidate: fields
 * stand in the event too, which goes with the sweep of the outbox alone.
 */
export const scatterDocuments = async ({ person }: Callers, { text }: Marker): Promise<void> => {
  const done = expecting(person)
  const document = `${text} GmbH\n\nOther GmbH\n\nInvoice\nTotal: 1.00 EUR\n`
  const body = { content: Buffer.from(document).toString("base64"), media_type: "text/plain" }
  const path = "/v1/documents/extract?org_unit=sales&retain=true&wait=10"
  const { id } = await done<Extraction>("POST", path, body, 201)
  const found = (): Promise<Extraction> => done("GET", `/v1/documents/extractions/${id}?org_unit=sales`, undefined, 200)
  let read = await found()
  // Beside other work the reader takes longer to start than a request waits.
  while (read.status === "queued" || read.status === "processing") {
    await setTimeout(250)
    read = await found()
  }
  if (read.candidates.vendor === undefined) throw new Error(`The text was to be a candidate of ${read.status}.`)
  await done("POST", `/v1/documents/extractions/${id}/reveal?org_unit=sales`, {}, 200)
}
