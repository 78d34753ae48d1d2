        SELECT entities.entity_id AS /*id*/, ranked.*
        FROM (
            SELECT entity_key, entity_id
            FROM entities
            WHERE account_id = {account:String} AND generation = {entities:UInt32}
        ) AS entities
        RIGHT ANY JOIN (
