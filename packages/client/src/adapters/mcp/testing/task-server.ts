/** A real server of the SDK 1 whose tool `build` runs as a task (revision 2025-11-25) until a test ends it. */
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import * as z from "zod"

/** Makes one. `started` and `cancelled` name tasks, in order. */
export const taskServer = () => {
  const started: Array<string> = []
  const cancelled: Array<string> = []
  const store = new (class extends InMemoryTaskStore {
    override async updateTaskStatus(...given: Parameters<InMemoryTaskStore["updateTaskStatus"]>): Promise<void> {
      const [taskId, status] = given
      await super.updateTaskStatus(...given)
      if (status === "cancelled") cancelled.push(taskId)
    }
  })()
  const server = new McpServer(
    { name: "shop", version: "1" },
    {
      capabilities: { tasks: { requests: { tools: { call: {} } }, cancel: {}, list: {} } },
      taskStore: store
    }
  )
  server.experimental.tasks.registerToolTask(
    "build",
    {
      inputSchema: { order: z.number(), token: z.string().optional() },
      execution: { taskSupport: "required" }
    },
    {
      createTask: async (_, { taskStore }) => {
        const task = await taskStore.createTask({ ttl: 300_000 })
        started.push(task.taskId)
        return { task }
      },
      getTask: (_, { taskId, taskStore }) => taskStore.getTask(taskId),
      getTaskResult: async (_, { taskId, taskStore }) => (await taskStore.getTaskResult(taskId)) as never
    }
  )
  return {
    server,
    started,
    cancelled,
    /** Ends a task with a text. */
    finish: (taskId: string, text: string, status: "completed" | "failed" = "completed") =>
      store.storeTaskResult(taskId, status, { content: [{ type: "text", text }], isError: status === "failed" })
  }
}
