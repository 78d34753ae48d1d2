    SELECT /*columns*/, /*measures*/
    FROM month_products
    WHERE account_id = {account:String}
      AND generation IN {months:Array(UInt32)}
      AND toYear(month) IN {calendar:Array(UInt32)}/*products*/
