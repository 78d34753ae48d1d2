    SELECT /*columns*/, /*measures*/
    FROM /*table*/
    WHERE account_id = {account:String}
      AND generation IN {undivided_months:Array(UInt32)}
      AND toYear(month) IN {undivided_calendar:Array(UInt32)}/*narrowed*/
