    SELECT /*columns*/, /*measures*/
    FROM /*table*/
    WHERE account_id = {account:String}
      AND generation IN {years:Array(UInt32)}/*narrowed*/
