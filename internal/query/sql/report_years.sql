    SELECT /*columns*/, /*measures*/
    FROM year_products
    WHERE account_id = {account:String}
      AND generation IN {years:Array(UInt32)}/*products*/
