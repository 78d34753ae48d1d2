if(empty(arrayFilter(m -> m.1 != 'changes', JSONExtractKeysAndValuesRaw(l.record)) AS shown), l.record,
    concat('{', arrayStringConcat(arrayMap(m -> concat(toJSONString(m.1), ':', m.2), shown), ','), '}'))
