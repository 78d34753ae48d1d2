if(empty(arrayFilter(m -> m.1 NOT IN ('created_campaign_ids', 'changed_campaign_ids'), JSONExtractKeysAndValuesRaw(record)) AS shown), record,
    concat('{', arrayStringConcat(arrayMap(m -> concat(toJSONString(m.1), ':', m.2), shown), ','), '}'))
