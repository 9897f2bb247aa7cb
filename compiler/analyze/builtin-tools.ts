/** The tools that every session has unless `tools` of its agent says otherwise. Source: decision 5. */
export const builtinTools = ["read", "write", "edit", "ls", "glob", "grep", "shell", "task"] as const;
