/*entities*/
        SELECT *, /*shown*/ AS shown, count() OVER () AS total
        FROM (
            SELECT
                /*keys*/,
                /*marketplaces*/ AS marketplace_keys,
                /*sums*/
            FROM (
/*parts*/
            )
            /*group by*/
        )
        WHERE /*any sum*/
        /*candidates*/
/*joined*/
