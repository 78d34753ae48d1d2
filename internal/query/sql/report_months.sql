    SELECT /*columns*/, /*measures*/
    FROM /*table*/
    WHERE account_id = {account:String}
      AND generation IN {months:Array(UInt32)}
      AND toYear(month) IN {calendar:Array(UInt32)}/*narrowed*/
