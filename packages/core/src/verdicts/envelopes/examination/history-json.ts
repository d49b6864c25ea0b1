/** Recorded history as JSON. What an envelope declared is written once for all evaluations under it. */
import type { History } from "../history.ts"
import type { RecordedEvaluation, RecordedEvent } from "@flyball/envelope"

type Declared = NonNullable<RecordedEvaluation["declared"]>

interface EvaluationJson extends Omit<RecordedEvaluation, "latches" | "declared"> {
  readonly latches: ReadonlyArray<string>
  /** Place in `declared`; null where nothing was in force. */
  readonly declared: number | null
}

/** One event. */
export type EventJson =
  | Exclude<RecordedEvent, { readonly kind: "evaluation" }>
  | { readonly kind: "evaluation"; readonly evaluation: EvaluationJson }

/** Recorded history as JSON, in the order of the chain. */
export interface HistoryJson extends Omit<History, "events" | "evaluations"> {
  readonly declared: ReadonlyArray<{ readonly signals: ReadonlyArray<string>; readonly meters: Declared["meters"] }>
  readonly events: ReadonlyArray<EventJson>
}

/** Writes a history. */
export const historyJson = ({ events, fromGenesis, fromSeq, toSeq }: History): HistoryJson => {
  const places = new Map<Declared["meters"], number>()
  const declared: Array<HistoryJson["declared"][number]> = []
  /** A binding is read once, so its meters are one list. */
  const placeOf = ({ meters, signals }: Declared): number => {
    const known = places.get(meters)
    if (known !== undefined) return known
    places.set(meters, declared.length)
    return declared.push({ signals: [...signals], meters }) - 1
  }
  return {
    fromGenesis,
    fromSeq,
    toSeq,
    declared,
    events: events.map((event): EventJson =>
      event.kind !== "evaluation"
        ? event
        : {
            kind: "evaluation",
            evaluation: {
              ...event.evaluation,
              latches: [...event.evaluation.latches],
              declared: event.evaluation.declared === null ? null : placeOf(event.evaluation.declared)
            }
          }
    )
  }
}

/** Reads what {@link historyJson} wrote. */
export const historyOf = ({ declared, events, ...rest }: HistoryJson): History => {
  const known = declared.map(({ meters, signals }): Declared => ({ signals: new Set(signals), meters }))
  const read = events.map((event): RecordedEvent =>
    event.kind !== "evaluation"
      ? event
      : {
          kind: "evaluation",
          evaluation: {
            ...event.evaluation,
            latches: new Set(event.evaluation.latches),
            declared: event.evaluation.declared === null ? null : known[event.evaluation.declared]!
          }
        }
  )
  return {
    ...rest,
    events: read,
    evaluations: read.flatMap((event) => (event.kind === "evaluation" ? [event.evaluation] : []))
  }
}
