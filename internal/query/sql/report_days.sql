    SELECT /*columns*/, /*wide*/
    FROM facts
    WHERE account_id = {account:String}
      AND generation IN {days:Array(UInt32)}
      AND day BETWEEN {from:Date} AND {to:Date}/*narrowed*/
