import { generator } from "@flyball/statistics"
import { describe, expect, it } from "vitest"
import { EARTH_RADIUS, routingMatrix } from "./matrix.ts"

const haversine = (a: readonly [number, number], b: readonly [number, number]): number => {
  const [p, l, q, m] = [...a, ...b].map((value) => (value / 1e7 / 180) * Math.PI) as [number, number, number, number]
  const h = Math.sin((q - p) / 2) ** 2 + Math.cos(p) * Math.cos(q) * Math.sin((m - l) / 2) ** 2
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(h)))
}

describe("routingMatrix", () => {
  it("is within a metre of the haversine anywhere on earth, the same both ways", () => {
    const random = generator(new Uint8Array(16).fill(1))
    const spread = (at: number) => (at % 2 === 0 ? [1_800_000_001, 3_600_000_001] : [100_000, 100_000])
    const points = Array.from({ length: 200 }, (_, at) => {
      const [rows, columns] = spread(at) as [number, number]
      return [random.below(rows) - 900_000_000, random.below(columns) - 1_800_000_000] as const
    })
    points.push([0, 0], [0, 1_800_000_000], [900_000_000, 0], [-900_000_000, 0])
    const { places, metres, seconds } = routingMatrix({ source: "great_circle", points, detour: 1_000, speed: 36_000 })
    for (const [from, a] of points.entries())
      for (const [to, b] of points.entries()) {
        expect(Math.abs(metres[from * places + to]! - haversine(a, b))).toBeLessThan(1)
        expect(metres[to * places + from]).toBe(metres[from * places + to])
        expect(seconds[from * places + to]).toBe(Math.round(metres[from * places + to]! / 10))
      }
  })

  it("takes detour and speed in whole numbers, and stays below 2^31", () => {
    const points = [
      [0, 0],
      [10_000_000, 0]
    ] as const
    const matrix = routingMatrix({ source: "great_circle", points, detour: 1_300, speed: 1 })
    expect([...matrix.metres]).toEqual([0, 144_554, 144_554, 0])
    expect([...matrix.seconds]).toEqual([0, 520_394_400, 520_394_400, 0])
    expect(Math.max(...routingMatrix({ source: "great_circle", points, detour: 10_000, speed: 1 }).seconds)).toBe(
      2 ** 31 - 1
    )
  })

  it("copies a matrix row by row, not symmetric", () => {
    const distances = {
      source: "matrix",
      metres: [
        [0, 1],
        [2, 0]
      ],
      seconds: [
        [0, 3],
        [4, 0]
      ]
    } as const
    const { places, metres, seconds } = routingMatrix(distances)
    expect([places, [...metres], [...seconds]]).toEqual([2, [0, 1, 2, 0], [0, 3, 4, 0]])
  })
})
