    SELECT /*columns*/, /*measures*/
    FROM /*table*/
    WHERE account_id = {account:String}
      AND generation IN {undivided_years:Array(UInt32)}/*narrowed*/
