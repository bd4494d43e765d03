-- Health of a Meeting for Argo CD. One that has ended is healthy: it did what it was there for.
local health = {status = "Progressing", message = "Not looked at yet"}
local status = obj.status
if obj.metadata.deletionTimestamp ~= nil then
  health.message = "Being deleted: its room is closed first"
  return health
end
if status == nil or status.phase == nil or status.observedGeneration ~= obj.metadata.generation then
  return health
end
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end
local stalled, ready = conditions.Stalled, conditions.Ready
if stalled ~= nil and stalled.status == "True" then
  return {status = "Degraded", message = stalled.message}
end
if status.phase == "Ended" then
  return {status = "Healthy", message = "Ended: " .. (status.endReason or "unknown")}
end
if ready ~= nil and ready.status == "True" then
  return {status = "Healthy", message = tostring(status.participantCount or 0) .. " in; " .. ready.message}
end
if ready ~= nil then
  health.message = ready.reason .. ": " .. ready.message
end
return health
