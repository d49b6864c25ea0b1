/** Writes metrics in the text format that Prometheus reads, version 0.0.4. */
import type { MetricDistribution, MetricFamily, MetricLabels, MetricValue } from "@flyball/core"

/** Media type of the format. */
export const METRICS_MEDIA = "text/plain; version=0.0.4; charset=utf-8"

/** The text for these families. A family without samples is left out. */
export const exposition = (families: ReadonlyArray<MetricFamily>): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .map(({ help, name, samples, type }) =>
      [
        `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
        `# TYPE ${name} ${type}`,
        ...samples.flatMap((sample) => linesOf(name, sample))
      ].join("\n")
    )
    .join("\n") + "\n"

const linesOf = (name: string, sample: MetricValue | MetricDistribution): ReadonlyArray<string> => {
  const { labels } = sample
  if ("value" in sample) return [`${name}${labelsText(labels)} ${sample.value}`]
  const bucket = (le: string, count: number): string => `${name}_bucket${labelsText({ ...labels, le })} ${count}`
  return [
    ...sample.buckets.map(({ count, le }) => bucket(String(le), count)),
    bucket("+Inf", sample.count),
    `${name}_sum${labelsText(labels)} ${sample.sum}`,
    `${name}_count${labelsText(labels)} ${sample.count}`
  ]
}

const labelsText = (labels: MetricLabels): string => {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')}"`
  )
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}

/** A gauge that is read when the metrics are; null where its value is not known. */
export const gauge = (name: string, help: string, value: number | null, labels: MetricLabels = {}): MetricFamily => ({
  name,
  type: "gauge",
  help,
  samples: value === null ? [] : [{ labels, value }]
})
