-- Health of a ConferenceConfig or a MediaServer for Argo CD. Degraded means that nothing but a change by a person
-- helps; what may come right by itself (a Secret that is about to be made, LiveKit starting) is Progressing.
local health = {status = "Progressing", message = "Not looked at yet"}
local status = obj.status
if obj.metadata.deletionTimestamp ~= nil then
  health.message = "Being deleted: its meetings are ended first"
  return health
end
if status == nil or status.observedGeneration ~= obj.metadata.generation then
  return health
end
local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end
local stalled, ready = conditions.Stalled, conditions.Ready
if stalled ~= nil and stalled.status == "True" then
  return {status = "Degraded", message = stalled.reason .. ": " .. stalled.message}
end
if ready == nil then
  return health
end
if ready.status == "True" then
  return {status = "Healthy", message = ready.message}
end
health.message = ready.reason .. ": " .. ready.message
return health
