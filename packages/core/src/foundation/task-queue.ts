/**
 * Work on the host's thread, a little in each turn of its event loop.
 *
 * Many callers are answered at once: by a worker's message, by a batch that became durable. What each of them does next
 * takes 20 to 50 microseconds, and
 * to begin a call as long again, so that all in a row would stop the host for milliseconds. All governors and stores of
 * a process share one queue, since
 * they share the turn.
 */

/** Approximate length of one turn. A task is not cut, so its last one comes on top. */
const turnMs = 0.5
/** Tasks in one turn, at most: a slow machine's clock must not be needed to know that there is an end. */
export const tasksPerTurn = 50

/** Done tasks that are kept before the queue is moved up. */
const longQueue = 1_000
const nothing = (): void => undefined

const tasks: Array<() => void> = []
/** Tasks at the front that are done. */
let done = 0
/** True when this turn has had its share, or is having it. */
let begun = false
let left = 0
let untilMs = 0

/** Runs a task soon, after all earlier tasks, and never before the running code has yielded the thread. */
export const queueTask = (task: () => void): void => {
  tasks.push(task)
  if (!begun) begin()
}

/** Reports whether something may be done at once: this turn has time left, and no task waits. */
export const isTurnFree = (): boolean => {
  if (!begun) begin()
  return tasks.length === 0 && performance.now() <= untilMs
}

const begin = (): void => {
  begun = true
  left = tasksPerTurn
  untilMs = performance.now() + turnMs
  setImmediate(next)
  queueMicrotask(step)
}

/** The immediates of one turn run before those that they ask for: this is a later turn. */
const next = (): void => {
  if (done < tasks.length) begin()
  else begun = false
}

/**
 * One task. A promise's reactions to it are microtasks too, and their time counts: the next task is queued behind them.
 */
const step = (): void => {
  const task = tasks[done]
  if (task === undefined || left-- === 0 || performance.now() > untilMs) return
  // Drops finished tasks.
  tasks[done] = nothing
  if (++done === tasks.length) {
    tasks.length = 0
    done = 0
  } else if (done >= longQueue) {
    tasks.splice(0, done)
    done = 0
  }
  try {
    task()
  } finally {
    queueMicrotask(step)
  }
}
