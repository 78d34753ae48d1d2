    SELECT /*columns*/, /*measures*/,
           /*earlier zeros*/
    FROM (
/*parts*/
    )
